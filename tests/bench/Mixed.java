// SPDX-License-Identifier: BSD-2-Clause
// Mixed ROUNDS SCALE: a server's mixture of work for tests/bench/alarms.py: strings, maps, regular expressions,
// sorting, hashing, big numbers. SCALE multiplies the loops of target(), some 10 % of it all at 1. Warms
// up, prints "ready", waits for a line and does its rounds.
import java.math.BigInteger;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public class Mixed {
    static final Pattern WORD = Pattern.compile("(\\w+)=(\\d+)");
    static final byte[] BYTES = new byte[4096];
    static final int TARGET_LOOPS = 2050;
    static final int WARM_ROUNDS = 60000; // its compilers are done then, but for a few of a hundred samples
    static long sink;

    static void target(int loops) {
        long x = sink;
        for (int i = 0; i < loops; i++)
            x = x * 6364136223846793005L + 1442695040888963407L;
        sink = x;
    }

    static void parse(Random random) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 20; i++)
            text.append("key").append(random.nextInt(90)).append('=').append(random.nextInt(1000)).append(';');
        Map<String, Integer> fields = new HashMap<>();
        for (String field : text.toString().split(";")) {
            Matcher matcher = WORD.matcher(field);
            if (matcher.matches())
                fields.merge(matcher.group(1), Integer.parseInt(matcher.group(2)), Integer::sum);
        }
        sink += fields.size();
    }

    static void sort(Random random) {
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < 200; i++)
            numbers.add(random.nextInt());
        Collections.sort(numbers, (a, b) -> Integer.compare(b, a));
        sink += numbers.get(0);
    }

    static void digest(MessageDigest sha) {
        sha.update(BYTES, 0, 2048);
        sink += sha.digest()[0];
    }

    static void power(Random random) {
        BigInteger base = new BigInteger(128, random);
        sink += base.modPow(BigInteger.valueOf(65537), BigInteger.ONE.shiftLeft(127).subtract(BigInteger.ONE)).intValue();
    }

    static void query(Random random, int loops) {
        sort(random);
        power(random);
        target(loops);
    }

    static void handle(Random random, MessageDigest sha, int loops) {
        parse(random);
        query(random, loops);
        digest(sha);
    }

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        int loops = (int) (TARGET_LOOPS * Double.parseDouble(args[1]));
        Random random = new Random();
        MessageDigest sha = MessageDigest.getInstance("SHA-256");
        for (int i = 0; i < WARM_ROUNDS; i++)
            handle(random, sha, loops);
        System.out.println("ready");
        System.in.read();
        for (int i = 0; i < rounds; i++)
            handle(random, sha, loops);
        System.exit(sink == 42 ? 1 : 0);
    }
}
