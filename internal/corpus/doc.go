// Package corpus derives a Google Ads Editor file of any size, and matching
// queries, from real catalogues and real query logs.
//
// None of the sources holds campaigns, ad groups, bids or match types; they
// are derived: a brand or a project's host is an advertiser, a category or
// section a campaign, a title an ad group, runs of words of the title and
// lists of keywords its keywords, a price the base of its bids.
//
// Up to the number of keywords that the catalogues give (about 1.1 million)
// each title is used once; a smaller corpus samples them. A larger one uses the
// titles again, round after round, recombined each time: the beginning of one
// title is joined to the end of another at a word that both contain, so that
// words keep their frequencies and mostly their neighbours, and rare model
// numbers get new digits and letters, so that the vocabulary's tail keeps
// growing. A title then belongs to the same advertiser or to one that is new in
// that round, so that sizes stay as uneven as they are in the sources.
//
// The seed determines everything. Memory depends on the catalogues only, not
// on the size of the corpus.
//
// Goals: words, lengths and sizes as real as the sources allow; the same bytes
// from the same seed and sources everywhere (integers decide, not floats).
// Non-goals: a model of advertisers' behaviour, clicks.
package corpus
