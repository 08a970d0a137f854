package adshard.peers;

import java.io.IOException;
import java.util.Map;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.monitor.CandidateMatcher;
import org.apache.lucene.monitor.QueryMatch;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.Scorer;

/** Tells whether a query matches the only document, without scores and collectors. */
final class Matcher extends CandidateMatcher<QueryMatch> {
  private final LeafReaderContext leaf;

  Matcher(IndexSearcher searcher) {
    super(searcher);
    leaf = searcher.getIndexReader().leaves().get(0);
  }

  @Override
  public void matchQuery(String id, Query query, Map<String, String> metadata) throws IOException {
    Scorer scorer = searcher.createWeight(query, ScoreMode.COMPLETE_NO_SCORES, 1).scorer(leaf);
    if (scorer != null && scorer.iterator().nextDoc() == 0) {
      addMatch(new QueryMatch(id), 0);
    }
  }

  @Override
  public QueryMatch resolve(QueryMatch match1, QueryMatch match2) {
    return match1;
  }
}
