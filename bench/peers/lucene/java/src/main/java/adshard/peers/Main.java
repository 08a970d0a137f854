package adshard.peers;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

/**
 * Serves searches in a Monitor over a unix socket, a thread a connection.
 *
 * <p>Usage: Main KEYWORDS SOCKET. KEYWORDS is a file as Keywords reads it; SOCKET is made when the
 * keywords are loaded and the program is warm.
 *
 * <p>A request is the number of words (2 bytes), then for each its length (2 bytes) and its bytes
 * in UTF-8. The answer is three numbers of 8 bytes: keywords that match, the sum of their ids, and
 * the nanoseconds that the search took. All numbers have their highest byte first.
 */
public final class Main {
  public static void main(String[] args) {
    try {
      run(args);
    } catch (Throwable e) {
      e.printStackTrace();
      Runtime.getRuntime().halt(1); // the monitor has a thread that would go on
    }
  }

  private static void run(String[] args) throws IOException {
    Keywords keywords = Keywords.read(Path.of(args[0]));
    Index index = new Index(keywords);
    System.out.println("loaded " + keywords.size());
    int warmed = Warmer.warm(index, keywords);
    System.out.println("warm after " + warmed);
    keywords = null; // the monitor has its own
    System.gc();
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(args[1]));
      while (true) {
        SocketChannel connection = server.accept();
        Thread.ofPlatform().daemon().start(() -> serve(connection, index));
      }
    }
  }

  private static void serve(SocketChannel connection, Index index) {
    try (connection) {
      DataInputStream in = new DataInputStream(new BufferedInputStream(Channels.newInputStream(connection)));
      DataOutputStream out = new DataOutputStream(new BufferedOutputStream(Channels.newOutputStream(connection)));
      while (true) {
        answer(in, out, index);
      }
    } catch (EOFException e) {
      // The other side has closed.
    } catch (IOException | RuntimeException e) {
      e.printStackTrace();
    }
  }

  private static void answer(DataInputStream in, DataOutputStream out, Index index) throws IOException {
    String[] words = Keywords.words(in, in.readUnsignedShort());
    long start = System.nanoTime();
    Index.Found found = index.search(words);
    long took = System.nanoTime() - start;
    out.writeLong(found.matches());
    out.writeLong(found.sum());
    out.writeLong(took);
    out.flush();
  }

  private Main() {}
}
