package adshard.peers;

import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.Random;
import java.util.Set;

/** Searches until the compiler has done its work. */
final class Warmer {
  private static final int SEARCHES = 50_000;
  private static final long NANOS = 10_000_000_000L;

  /** Runs searches made of the words of one to four keywords; returns how many. */
  static int warm(Index index, Keywords keywords) throws IOException {
    if (keywords.size() == 0) {
      return 0;
    }
    Random random = new Random(1);
    long end = System.nanoTime() + NANOS;
    int done = 0;
    int enough = Math.min(SEARCHES, keywords.size() / 2);
    while (done < enough && System.nanoTime() < end) {
      Set<String> words = new LinkedHashSet<>();
      for (int n = 1 + random.nextInt(4); n > 0; n--) {
        words.addAll(Set.of(keywords.of(random.nextInt(keywords.size()))));
      }
      index.search(words.toArray(String[]::new));
      done++;
    }
    return done;
  }

  private Warmer() {}
}
