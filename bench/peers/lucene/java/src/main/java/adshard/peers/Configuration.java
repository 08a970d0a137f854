package adshard.peers;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.monitor.MonitorConfiguration;
import org.apache.lucene.store.ByteBuffersDirectory;

/** A Monitor's index on the heap, whose writer stays at hand. */
final class Configuration extends MonitorConfiguration {
  private IndexWriter writer;

  Configuration(int batch) {
    setQueryUpdateBufferSize(batch);
    setPurgeFrequency(10_000, TimeUnit.DAYS); // nothing is ever deleted
  }

  @Override
  protected IndexWriterConfig getIndexWriterConfig() {
    return super.getIndexWriterConfig().setRAMBufferSizeMB(256);
  }

  @Override
  public IndexWriter buildIndexWriter() throws IOException {
    writer = new IndexWriter(new ByteBuffersDirectory(), getIndexWriterConfig());
    return writer;
  }

  /** Merges the index to one segment. */
  void merge() throws IOException {
    writer.forceMerge(1);
  }
}
