// SPDX-License-Identifier: BSD-2-Clause
// Upgrade MILLISECONDS: the same work on any JDK from 8 on, of which one part is other code since 19
// (Double.toString, JDK-4511638) and one since 18 (reflection, JEP 416). Prints "ready" once warm; at the
// end it has the JVM write its perf map and says CPU nanoseconds a round of each part.
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.IntUnaryOperator;
import javax.management.ObjectName;

public class Upgrade {
    static volatile long sink;

    interface Price {
        int of(int item);
    }

    public static int scale(int x) {
        return x * 31 + (x >>> 3);
    }

    public static int shift(int x) {
        return x << 3 ^ x;
    }

    public static int flip(int x) {
        return ~x * 7;
    }

    static long printNumbers(Random random) {
        long length = 0;
        for (int i = 0; i < 400; i++)
            length += Double.toString(random.nextDouble() * 1e6).length();
        return length;
    }

    static long sortSome(Random random) {
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < 600; i++)
            numbers.add(random.nextInt());
        Collections.sort(numbers, (a, b) -> Integer.compare(b, a));
        return numbers.get(0);
    }

    static long countWords(Random random) {
        Map<String, Integer> counts = new HashMap<>();
        for (int i = 0; i < 400; i++)
            counts.merge("word-" + random.nextInt(97), 1, Integer::sum);
        return counts.size();
    }

    static int climb(int depth, IntUnaryOperator step) {
        return depth == 0 ? step.applyAsInt(7) : climb(depth - 1, x -> step.applyAsInt(x) + depth) + 1;
    }

    // Several methods, as a framework has them: none of them is a constant to the compiler.
    static long callAround(Method[] methods) throws Exception {
        long sum = 0;
        for (int i = 0; i < 6000; i++)
            sum += (Integer) methods[i % methods.length].invoke(null, i);
        return sum;
    }

    static long callThrough(Price price) {
        long sum = 0;
        for (int i = 0; i < 1000; i++)
            sum += price.of(i);
        for (int i = 0; i < 50; i++)
            sum += climb(12, x -> x * 31);
        return sum;
    }

    // Of a JDK that can; it is those who want maps that mind.
    static void writeMap() throws Exception {
        try {
            ManagementFactory.getPlatformMBeanServer().invoke(new ObjectName("com.sun.management:type=DiagnosticCommand"),
                "compilerPerfmap", new Object[] {null}, new String[] {String[].class.getName()});
        } catch (javax.management.ReflectionException before17) {
            return;
        }
    }

    // Until so much CPU time is used, so that a busy machine gives as many samples as an idle one.
    static void run(long milliseconds, long[] spent) throws Exception {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        Random random = new Random(1);
        Method[] methods = {Upgrade.class.getMethod("scale", int.class), Upgrade.class.getMethod("shift", int.class),
            Upgrade.class.getMethod("flip", int.class)};
        InvocationHandler handler = (self, called, arguments) -> scale((Integer) arguments[0]);
        Price price = (Price) Proxy.newProxyInstance(Upgrade.class.getClassLoader(), new Class<?>[] {Price.class}, handler);
        long end = threads.getCurrentThreadCpuTime() + milliseconds * 1_000_000;
        long[] at = new long[6];
        while (at[5] < end) {
            at[0] = threads.getCurrentThreadCpuTime();
            sink += printNumbers(random);
            at[1] = threads.getCurrentThreadCpuTime();
            sink += sortSome(random);
            at[2] = threads.getCurrentThreadCpuTime();
            sink += countWords(random);
            at[3] = threads.getCurrentThreadCpuTime();
            sink += callThrough(price);
            at[4] = threads.getCurrentThreadCpuTime();
            sink += callAround(methods);
            at[5] = threads.getCurrentThreadCpuTime();
            for (int i = 0; i < 5; i++)
                spent[i] += at[i + 1] - at[i];
            spent[5]++;
        }
    }

    public static void main(String[] arguments) throws Exception {
        long[] spent = new long[6];
        String[] parts = {"print", "sort", "count", "proxy", "reflect"};
        run(2000, new long[6]);
        writeMap(); // so that the code that writes it is warm, too
        run(2000, new long[6]);
        System.out.println("ready");
        System.out.flush();
        run(Long.parseLong(arguments[0]), spent);
        writeMap();
        for (int i = 0; i < parts.length; i++)
            System.out.println(parts[i] + " " + spent[i] / spent[5]);
        System.out.println("rounds " + spent[5]);
        System.out.flush();
        Thread.sleep(1500); // for whoever samples to read the map
    }
}
