// SPDX-License-Identifier: BSD-2-Clause
// Native SECONDS: keeps a Java VM's own threads busy: garbage that lives a while, and code that is hot for a moment.
import java.lang.invoke.MethodHandles;
import java.util.function.IntUnaryOperator;

public class Native {
    static Object[] kept = new Object[200_000];
    static volatile long sink;

    public static class Hot implements IntUnaryOperator {
        int state;

        public int applyAsInt(int n) {
            int sum = state;
            for (int i = 0; i < n; i++)
                sum = sum * 31 + (i ^ sum >>> 7) % (1 + (i & 15));
            return state = sum;
        }
    }

    public static void main(String[] args) throws Throwable {
        long end = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
        byte[] code = Native.class.getResourceAsStream("Native$Hot.class").readAllBytes();
        int at = 0;
        while (System.nanoTime() < end) {
            // A class of its own each time, to be compiled anew.
            IntUnaryOperator hot = (IntUnaryOperator) MethodHandles.lookup().defineHiddenClass(code, true)
                .lookupClass().getConstructor().newInstance();
            for (int i = 0; i < 20_000; i++) {
                sink += hot.applyAsInt(20);
                kept[at++ % kept.length] = new Object[] {kept[(at * 7) % kept.length] == null ? null : new int[8], hot};
            }
        }
    }
}
