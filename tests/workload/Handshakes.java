// SPDX-License-Identifier: BSD-2-Clause
// Handshakes KEYSTORE MILLISECONDS NTH: a client and a server in one JVM, by SSLEngine without sockets:
// connect, exchange some records, again. Each NTH time the client does not say whom it talks to, so that
// no session is resumed. Prints "ready" once warm, has the JVM write its perf map at the end.
import java.io.FileInputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.security.KeyStore;
import javax.management.ObjectName;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.TrustManagerFactory;

public class Handshakes {
    static final int RECORDS = 150;
    static final char[] PASSWORD = "changeit".toCharArray();
    static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

    static SSLContext context(String path) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (FileInputStream in = new FileInputStream(path)) {
            store.load(in, PASSWORD);
        }
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, PASSWORD);
        TrustManagerFactory trusted = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trusted.init(store);
        SSLContext context = SSLContext.getInstance("TLSv1.2");
        context.init(keys.getKeyManagers(), trusted.getTrustManagers(), null);
        return context;
    }

    static void tasks(SSLEngine engine) {
        for (Runnable task; (task = engine.getDelegatedTask()) != null;)
            task.run();
    }

    // What one side has to say goes to the other, until neither has more.
    static void pass(SSLEngine from, SSLEngine to, ByteBuffer net, ByteBuffer app) throws Exception {
        while (from.getHandshakeStatus() == HandshakeStatus.NEED_WRAP) {
            net.clear();
            from.wrap(EMPTY.duplicate(), net);
            net.flip();
            while (net.hasRemaining()) {
                app.clear();
                to.unwrap(net, app);
                tasks(to);
            }
        }
    }

    static void shakeHands(SSLEngine client, SSLEngine server, ByteBuffer net, ByteBuffer app) throws Exception {
        client.beginHandshake();
        server.beginHandshake();
        while (client.getHandshakeStatus() != HandshakeStatus.NOT_HANDSHAKING
            || server.getHandshakeStatus() != HandshakeStatus.NOT_HANDSHAKING) {
            pass(client, server, net, app);
            pass(server, client, net, app);
        }
    }

    static void talk(SSLEngine client, SSLEngine server, ByteBuffer net, ByteBuffer app, ByteBuffer text) throws Exception {
        for (int i = 0; i < RECORDS; i++) {
            net.clear();
            client.wrap(text.duplicate(), net);
            net.flip();
            app.clear();
            server.unwrap(net, app);
        }
    }

    static void connection(SSLContext context, boolean resume, ByteBuffer[] buffers) throws Exception {
        SSLEngine client = resume ? context.createSSLEngine("server", 443) : context.createSSLEngine();
        SSLEngine server = context.createSSLEngine();
        client.setUseClientMode(true);
        server.setUseClientMode(false);
        shakeHands(client, server, buffers[0], buffers[1]);
        talk(client, server, buffers[0], buffers[1], buffers[2]);
    }

    static void writeMap() throws Exception {
        ManagementFactory.getPlatformMBeanServer().invoke(new ObjectName("com.sun.management:type=DiagnosticCommand"),
            "compilerPerfmap", new Object[] {null}, new String[] {String[].class.getName()});
    }

    static long run(SSLContext context, int nth, long milliseconds) throws Exception {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        ByteBuffer[] buffers = {ByteBuffer.allocate(40000), ByteBuffer.allocate(40000), ByteBuffer.allocate(4096)};
        long end = threads.getCurrentThreadCpuTime() + milliseconds * 1_000_000;
        long connections = 0;
        for (; threads.getCurrentThreadCpuTime() < end; connections++)
            connection(context, connections % nth != 0, buffers);
        return connections;
    }

    public static void main(String[] arguments) throws Exception {
        SSLContext context = context(arguments[0]);
        int nth = Integer.parseInt(arguments[2]);
        run(context, nth, 4000);
        writeMap();
        run(context, nth, 1500);
        System.out.println("ready");
        System.out.flush();
        System.out.println("connections " + run(context, nth, Long.parseLong(arguments[1])));
        writeMap();
        System.out.flush();
        Thread.sleep(1500); // for whoever samples to read the map
    }
}
