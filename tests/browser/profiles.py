# SPDX-License-Identifier: BSD-2-Clause
"""Text profiles that tests draw: all made here."""
import random

ZOOM = "main;outer;inner 30\nmain;outer;prep 20\nmain;other;inner 40\nmain;idle 10\n"
RECURSION = "main;walk;walk;walk 40\nmain;walk;visit;walk 25\nmain;walk 10\nmain;emit 25\n"
ADDRESS = "main;a+b&c=d#e f 50\nmain;100%;x 30\nmain;x 20\n"

TLS = ("main;EventLoop.run;Handler.read;App.process 9385\n"
       "main;EventLoop.run;SSL.readRecord;Client.processMessage;Finished.verify 80\n"
       "main;EventLoop.run;SSL.readRecord;Client.processMessage;HelloDone.run;RSA.crypt 20\n"
       "main;EventLoop.run;SSL.readRecord;Client.processMessage;Cert.run;X509.verify 15\n"
       "main;EventLoop.run;SSL.writeRecord;CipherBox.encrypt 500\n",
       "main;EventLoop.run;Handler.read;App.process 7102\n"
       "main;EventLoop.run;SSL.readRecord;Client.processMessage;Finished.verify 84\n"
       "main;EventLoop.run;SSL.readRecord;Client.processMessage;HelloDone.run;RSA.crypt 1480\n"
       "main;EventLoop.run;SSL.readRecord;Client.processMessage;Cert.run;X509.verify 834\n"
       "main;EventLoop.run;SSL.writeRecord;CipherBox.encrypt 500\n")
UNION = ("main;a 3000\nmain;a;x 2000\nmain;old 2500\nmain;b 2500\n",
         "main;a 2000\nmain;a;x 3500\nmain;b 2500\nmain;fresh 2000\n")

MARKUP = ["std::map<std::string, int>::operator[](char const*&&)", "operator<", "a & b", '"quoted"', "it's",
          "C:\\temp\\", "a]]>b", "</title><b>x", "<!-- no comment -->", "%3Cb%3E", "${name}", "$& $1 \\1",
          "line\u2028sep"]
SCRIPTS = ['"><script>alert(1)</script>', "'-alert(1)-'", 'x" onmouseover="alert(1)',
           "</text></svg><script>alert(2)</script>", "]]><script>alert(3)</script>", "javascript:alert(4)",
           "\\u003cscript\\u003ealert(5)", "</script><script>alert(6)</script>"]


def children(names, weight=10):
    """The names as children of main."""
    return "".join(f"main;{name} {weight}\n" for name in names)


def deep(levels=3000):
    return ";".join(["main"] + [f"f{i:04}" for i in range(1, levels)]) + " 900\nmain;side 100\n"


def wide(parents=200, leaves=200000):
    lines = [f"main;p{i % parents:03};leaf{i:06} 1" for i in range(leaves)]
    return "\n".join(lines + [f"main;big {leaves}", ""])


PACKAGES = ["io.netty.channel.nio", "java.util.concurrent", "org.acme.orders.storage.json", "sun.nio.ch"]
CLASSES = ["NioEventLoop", "AbstractChannelHandlerContext", "ThreadPoolExecutor$Worker", "Json", "A"]
METHODS = ["run", "fireChannelReadComplete", "processSelectedKeysOptimized", "lambda$apply$0", "m"]
NATIVE = ["std::vector<int, std::allocator<int> >::push_back(int&&)", "JavaCalls::call_helper", "memcpy",
          "(anonymous namespace)::Parser::next() const", "<alloc::vec::Vec<T> as core::ops::Drop>::drop"]
KERNEL = ["entry_SYSCALL_64_after_hwframe", "do_syscall_64", "tcp_sendmsg_locked", "vfs_read", "schedule"]


def mixed(stacks=3000, seed=11):
    """A Java server as it looks: threads, Java with inlining, native code, kernel; a few ways carry
    most of the weight, so that boxes of all widths come out."""
    rng = random.Random(seed)

    def pick(items):
        return items[0] if rng.random() < .9 else items[int(min(6, len(items)) * rng.random() ** 2)]

    methods = [f"{package}.{name}.{method}" for package in PACKAGES for name in CLASSES for method in METHODS]
    rng.shuffle(methods)
    lines = []
    for _ in range(stacks):
        stack = [rng.choice(["http-nio-8080-exec-1", "C2 CompilerThread0", "GC Thread#0"]), "start_thread"]
        for level in range(rng.randrange(2, 18)):
            stack.append(pick(methods[7 * level % len(methods):] + methods) + ("_[i]" if level % 5 == 4 else "_[j]"))
        stack += [pick(NATIVE) for _ in range(rng.randrange(0, 3))]
        stack += [pick(KERNEL[i:]) + "_[k]" for i in range(rng.randrange(0, 4))]
        lines.append(";".join(stack) + f" {rng.randrange(1, 40)}")
    return "\n".join(lines) + "\n"


def changed(text, seed=5):
    """Another run of the same program: counts differ, some ways went, some came."""
    rng, lines = random.Random(seed), []
    for line in text.splitlines():
        stack, _, n = line.rpartition(" ")
        if rng.random() < .08:
            continue
        if rng.random() < .08:
            stack += ";org.acme.orders.Added.run_[j]"
        lines.append(f"{stack} {max(1, int(int(n) * rng.uniform(.4, 1.9)))}")
    return "\n".join(lines) + "\n"
