// SPDX-License-Identifier: BSD-2-Clause
// Deep MILLISECONDS [LIBRARY]: a thread "deep" that burns that much CPU time in burn() under each of these numbers
// of calls, in turn:
//	down()       1,001 calls of a method
//	jump()         301 of one that goes on through lambdas
//	caught()       301 of one that goes on while it handles an exception
//	Storm.down()   301 of code that is compiled anew each time and given up below all of them
//	through()       61 of one that goes on through native code, LIBRARY
// Prints "ready", waits for a line; prints "done" at the end and sleeps.
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.function.IntUnaryOperator;

public class Deep {
    public static volatile long sink;
    static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    static long burnt; // nanoseconds of CPU time
    static final RuntimeException FAULT = new RuntimeException("no fault");
    static final IntUnaryOperator NEXT = left -> left == 0 ? bottom(left) : jump(left - 1);

    public static int burn(int x) {
        int sum = x;
        for (int i = 0; i < 100000; i++)
            sum = sum * 31 + (sum >>> 3) + i;
        return sum;
    }

    public static int bottom(int x) {
        long before = THREADS.getCurrentThreadCpuTime();
        int sum = 0;
        for (int i = 0; i < 8; i++)
            sum += burn(x + i);
        burnt += THREADS.getCurrentThreadCpuTime() - before;
        return sum;
    }

    static int down(int left) {
        return left == 0 ? bottom(left) : down(left - 1) + 1;
    }

    static int jump(int left) {
        return NEXT.applyAsInt(left) + 1;
    }

    static int caught(int left) {
        try {
            throw FAULT;
        } catch (RuntimeException fault) {
            return left == 0 ? bottom(left) : caught(left - 1) + 1;
        }
    }

    static native int through(int left);

    // Called by through(), whose native code is between two of them.
    static int back(int left) {
        return left == 0 ? bottom(left) : through(left - 1) + 1;
    }

    // Overridden by nobody, as far as compilers know.
    public static class Calm {
        public int one() {
            return 1;
        }
    }

    public static class Rude extends Calm {
        public int one() {
            return 2;
        }
    }

    public static class Storm implements IntUnaryOperator {
        static Calm calm = new Calm();
        static boolean breaks;

        static int down(int left) {
            return left == 0 ? last() : down(left - 1) + calm.one();
        }

        // Once there is a Rude, no code may rely on Calm.one().
        static int last() {
            return breaks ? new Rude().one() + bottom(0) : 1;
        }

        public int applyAsInt(int left) {
            for (int i = 0; i < 60; i++)
                sink += down(left);
            breaks = true;
            return down(left);
        }
    }

    // Has classes of its own by the names of ours.
    static class Loader extends ClassLoader {
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.endsWith("Calm") && !name.endsWith("Rude") && !name.endsWith("Storm"))
                return super.loadClass(name, resolve);
            Class<?> loaded = findLoadedClass(name);
            if (loaded != null)
                return loaded;
            try (InputStream in = Deep.class.getResourceAsStream(name + ".class")) {
                ByteArrayOutputStream all = new ByteArrayOutputStream();
                for (int c; (c = in.read()) >= 0;)
                    all.write(c);
                return defineClass(name, all.toByteArray(), 0, all.size());
            } catch (java.io.IOException wrong) {
                throw new ClassNotFoundException(name, wrong);
            }
        }
    }

    static int storm(int left) {
        try {
            Object storm = new Loader().loadClass("Deep$Storm").getDeclaredConstructor().newInstance();
            return ((IntUnaryOperator) storm).applyAsInt(left);
        } catch (ReflectiveOperationException wrong) {
            throw new IllegalStateException(wrong);
        }
    }

    static void spin(long milliseconds, int left, IntUnaryOperator shape) {
        burnt = 0;
        while (burnt < milliseconds * 1_000_000)
            sink += shape.applyAsInt(left);
    }

    public static void main(String[] arguments) throws Exception {
        long milliseconds = Long.parseLong(arguments[0]);
        if (arguments.length > 1)
            System.load(arguments[1]);
        System.out.println("ready");
        System.out.flush();
        System.in.read();
        Thread thread = new Thread(null, () -> {
            spin(milliseconds, 1000, Deep::down);
            spin(milliseconds, 300, Deep::jump);
            spin(milliseconds, 300, Deep::caught);
            spin(milliseconds, 300, Deep::storm);
            if (arguments.length > 1)
                spin(milliseconds, 60, Deep::through);
        }, "deep", 64 << 20);
        thread.start();
        thread.join();
        System.out.println("done");
        System.out.flush();
        Thread.sleep(600_000);
    }
}
