// SPDX-License-Identifier: BSD-2-Clause
// Two named threads: one sorts, one builds strings.
import java.util.Arrays;
import java.util.Random;

public class Demo {
    static volatile long sink;

    static void sortNumbers(int[] numbers) {
        int[] copy = numbers.clone();
        Arrays.sort(copy);
        sink += copy[0];
    }

    static void joinWords(int n) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < n; i++) {
            text.append(i % 10).append(' ');
        }
        sink += text.toString().hashCode();
    }

    static void start(String name, Runnable work) {
        Thread thread = new Thread(() -> {
            for (;;) {
                work.run();
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
    }

    public static void main(String[] args) throws InterruptedException {
        int[] numbers = new Random(1).ints(20000).toArray();
        start("sorter", () -> sortNumbers(numbers));
        start("writer", () -> joinWords(20000));
        Thread.sleep(60_000);
    }
}
