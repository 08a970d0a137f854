// Package lucene finds matching keywords with Lucene Monitor: it is a peer for bench/layouts.
// Each keyword is a query stored in the Monitor, a conjunction of its words; a user's query is
// a document that is matched against them. The Monitor's presearcher looks up the queries whose
// most selective word is in the document, and runs each of them on the document.
//
// A small Java program (java/, built by deploy/peers.sh) holds the Monitor and answers over a
// unix socket. Searches are timed inside this program (layouts.Timed), because the Monitor is a
// library, which users call within their own process.
//
// Lucene 10.3.0 on Java 21 or newer is tuned as follows; the factors are processor times with
// 100,000 keywords:
//   - The presearcher weighs words by how few keywords have them, so that each
//     keyword is found by its rarest. With two passes
//     (MultipassTermFilteredPresearcher) searches took as long as with one, and
//     loading took longer.
//   - Candidates are verified by a CandidateMatcher that asks the query's scorer
//     for a first document, without scores and collectors: 1.6 times the
//     searches of QueryMatch.SIMPLE_MATCHER. IndexSearcher's query cache is off.
//   - Words come as fields that no analyzer splits. A keyword of one word is a
//     plain TermQuery.
//   - The index lies on the heap (ByteBuffersDirectory), which was no slower than
//     MMapDirectory; it is merged to one segment after loading; the cache of
//     queries is never purged.
//   - Java: a fixed heap with room, so that searches cause young collections
//     only; the serial collector, since one thread is measured; compact headers
//     and the vector API where Java has them. Warm: 50,000 searches (fewer for few keywords) made of the
//     keywords themselves, at most 10 s, before the first that counts.
//
// Goals: the Monitor as its users would set it up. Non-goals: changes while it is searched, an
// index that outlives the process.
package lucene
