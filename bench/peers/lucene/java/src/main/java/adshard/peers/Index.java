package adshard.peers;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.lucene.analysis.core.KeywordAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.Term;
import org.apache.lucene.monitor.MatchingQueries;
import org.apache.lucene.monitor.Monitor;
import org.apache.lucene.monitor.MonitorQuery;
import org.apache.lucene.monitor.QueryMatch;
import org.apache.lucene.monitor.TermFilteredPresearcher;
import org.apache.lucene.monitor.TermWeightor;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermQuery;

/** A Monitor with a query for each keyword. */
final class Index {
  private static final String FIELD = "w";

  /** How many queries are added at once: while they are, each takes some 30 KB. */
  private static final int BATCH = 5_000;

  /** What matches: how many keywords, and the sum of their ids. */
  record Found(long matches, long sum) {}

  private final Monitor monitor;

  Index(Keywords keywords) throws IOException {
    IndexSearcher.setDefaultQueryCache(null); // documents are searched once
    Map<String, Integer> counts = keywords.counts();
    TermWeightor rarest = term -> 1.0 / (1 + counts.getOrDefault(term.text(), 0));
    Configuration configuration = new Configuration(BATCH);
    monitor =
        new Monitor(
            new KeywordAnalyzer(), new TermFilteredPresearcher(rarest, List.of(), Set.of()), configuration);
    load(keywords);
    configuration.merge();
    monitor.register(); // searches see what was merged
  }

  private void load(Keywords keywords) throws IOException {
    List<MonitorQuery> batch = new ArrayList<>(BATCH);
    for (int i = 0; i < keywords.size(); i++) {
      batch.add(new MonitorQuery(Long.toString(i + 1), query(keywords.of(i))));
      if (batch.size() == BATCH) {
        monitor.register(batch);
        batch.clear();
      }
    }
    monitor.register(batch);
  }

  private static Query query(String[] words) {
    if (words.length == 1) {
      return new TermQuery(new Term(FIELD, words[0]));
    }
    BooleanQuery.Builder all = new BooleanQuery.Builder();
    for (String word : words) {
      all.add(new TermQuery(new Term(FIELD, word)), Occur.MUST);
    }
    return all.build();
  }

  /** Finds the keywords all of whose words are among these. */
  Found search(String[] words) throws IOException {
    Document document = new Document();
    for (String word : words) {
      document.add(new StringField(FIELD, word, Field.Store.NO));
    }
    MatchingQueries<QueryMatch> found = monitor.match(document, Matcher::new);
    long sum = 0;
    for (QueryMatch match : found.getMatches()) {
      sum += Long.parseLong(match.getQueryId());
    }
    return new Found(found.getMatchCount(), sum);
  }
}
