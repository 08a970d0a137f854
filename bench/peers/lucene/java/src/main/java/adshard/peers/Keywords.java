package adshard.peers;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * The keywords: keyword i has the id i + 1. In a file: how many there are (4 bytes), then for each
 * the number of its words (2 bytes) and for each word its length (2 bytes) and its bytes in UTF-8.
 */
final class Keywords {
  private final String[][] words;
  private final Map<String, Integer> counts;

  private Keywords(String[][] words, Map<String, Integer> counts) {
    this.words = words;
    this.counts = counts;
  }

  static Keywords read(Path file) throws IOException {
    try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(file), 1 << 20))) {
      String[][] all = new String[in.readInt()][];
      Map<String, Integer> counts = new HashMap<>();
      Map<String, String> once = new HashMap<>(); // so that equal words are one string
      for (int i = 0; i < all.length; i++) {
        all[i] = words(in, in.readUnsignedShort());
        for (int j = 0; j < all[i].length; j++) {
          String word = once.computeIfAbsent(all[i][j], w -> w);
          all[i][j] = word;
          counts.merge(word, 1, Integer::sum);
        }
      }
      return new Keywords(all, counts);
    }
  }

  /** Reads n words. */
  static String[] words(DataInputStream in, int n) throws IOException {
    String[] words = new String[n];
    for (int i = 0; i < n; i++) {
      byte[] bytes = new byte[in.readUnsignedShort()];
      in.readFully(bytes);
      words[i] = new String(bytes, StandardCharsets.UTF_8);
    }
    return words;
  }

  int size() {
    return words.length;
  }

  /** The words of keyword i. */
  String[] of(int i) {
    return words[i];
  }

  /** In how many keywords each word stands. */
  Map<String, Integer> counts() {
    return counts;
  }
}
