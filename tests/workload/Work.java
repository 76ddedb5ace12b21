// SPDX-License-Identifier: BSD-2-Clause
// Work SECONDS THREADS [ROUNDS]: named threads that sort, hash, concatenate, match and call through interfaces
// and lambdas, some 40 frames deep at times; prints "ready" once its methods have
// been compiled, after 3000 rounds; with ROUNDS after that many, and waits for a line then.
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.IntUnaryOperator;
import java.util.regex.Pattern;

public class Work {
    static volatile long sink;
    static final Pattern WORD = Pattern.compile("(\\w+)-(\\d+)");

    interface Shape {
        double area();
    }

    static class Square implements Shape {
        final double side;

        Square(double side) {
            this.side = side;
        }

        public double area() {
            return side * side;
        }
    }

    static class Circle implements Shape {
        final double radius;

        Circle(double radius) {
            this.radius = radius;
        }

        public double area() {
            return Math.PI * radius * radius;
        }
    }

    static int sortSome(Random random) {
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < 2000; i++)
            numbers.add(random.nextInt());
        Collections.sort(numbers, (a, b) -> Integer.compare(b, a));
        return numbers.get(0);
    }

    static int countWords(Random random) {
        Map<String, Integer> counts = new HashMap<>();
        for (int i = 0; i < 500; i++)
            counts.merge("word-" + random.nextInt(97), 1, Integer::sum);
        int matched = 0;
        for (String word : counts.keySet())
            if (WORD.matcher(word).matches())
                matched++;
        return matched;
    }

    static double areas(Random random) {
        double sum = 0;
        for (int i = 0; i < 3000; i++) {
            Shape shape = (i & 1) == 0 ? new Square(random.nextDouble()) : new Circle(random.nextDouble());
            sum += shape.area();
        }
        return sum;
    }

    static int climb(int depth, IntUnaryOperator step) {
        return depth == 0 ? step.applyAsInt(7) : climb(depth - 1, x -> step.applyAsInt(x) + depth) + 1;
    }

    static void round(Random random) {
        sink += sortSome(random);
        sink += countWords(random);
        sink += (long) areas(random);
        for (int i = 0; i < 50; i++)
            sink += climb(20, x -> x * 31);
    }

    public static void main(String[] arguments) throws Exception {
        long seconds = Long.parseLong(arguments[0]);
        int threads = Integer.parseInt(arguments[1]);
        int rounds = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 3000;
        Random warm = new Random(1);
        for (int i = 0; i < rounds; i++)
            round(warm);
        System.out.println("ready");
        System.out.flush();
        if (arguments.length > 2)
            System.in.read();
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        for (int i = 0; i < threads; i++) {
            Random random = new Random(i);
            new Thread(() -> {
                while (System.nanoTime() < end)
                    round(random);
            }, "worker-" + i).start();
        }
    }
}
