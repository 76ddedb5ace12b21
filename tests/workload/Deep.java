// SPDX-License-Identifier: BSD-2-Clause
// Deep DEPTH SECONDS: a thread "deep" that spins under DEPTH + 1 calls of down(); prints "ready" after
// the first of them.
public class Deep {
    static volatile long sink;

    static int burn(int x) {
        int sum = x;
        for (int i = 0; i < 20000; i++)
            sum = sum * 31 + (sum >>> 3) + i;
        return sum;
    }

    static int down(int left, int x) {
        return left == 0 ? burn(x) + burn(x + 1) : down(left - 1, x + left) + 1;
    }

    public static void main(String[] arguments) throws Exception {
        int depth = Integer.parseInt(arguments[0]);
        long end = System.nanoTime() + Long.parseLong(arguments[1]) * 1_000_000_000L;
        Thread thread = new Thread(() -> {
            for (int i = 0; System.nanoTime() < end; i++) {
                sink += down(depth, i);
                if (i == 0) {
                    System.out.println("ready");
                    System.out.flush();
                }
            }
        }, "deep");
        thread.start();
        thread.join();
    }
}
