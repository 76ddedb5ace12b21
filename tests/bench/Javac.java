// SPDX-License-Identifier: BSD-2-Clause
// Javac SECONDS FOLDER SOURCE...: the compiler of the JDK at work, again and again, in one thread.
import java.lang.reflect.Method;

public class Javac {
    public static void main(String[] arguments) throws Exception {
        long end = System.nanoTime() + Long.parseLong(arguments[0]) * 1_000_000_000L;
        String[] command = new String[arguments.length + 1];
        command[0] = "-nowarn";
        command[1] = "-d";
        System.arraycopy(arguments, 1, command, 2, arguments.length - 1);
        Method compile = Class.forName("com.sun.tools.javac.Main").getMethod("compile", String[].class);
        System.out.println("ready");
        System.out.flush();
        while (System.nanoTime() < end)
            if ((Integer) compile.invoke(null, (Object) command) != 0)
                throw new IllegalStateException("it does not compile");
    }
}
