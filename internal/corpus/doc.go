// Package corpus derives a Google Ads Editor file of any size, and queries to
// go with it, from real catalogues and real query logs.
//
// None of the sources holds campaigns, ad groups, bids or match types; they
// are derived: a brand or a project's host is an advertiser, a category or
// section a campaign, a title an ad group, runs of words of the title and
// lists of keywords its keywords, a price the base of its bids.
//
// Up to the number of keywords that the catalogues give (about 1.1 million)
// each title is used once; a smaller corpus takes a sample of them. Beyond it
// the titles are used again, round after round, each time recombined: the
// first part of one title goes on as another title does behind the same word,
// so that words keep their frequencies and mostly their neighbours, and rare
// model numbers get new digits and letters, so that the tail goes on growing.
// An advertiser's title then goes to the same advertiser or to one that is new
// in that round, so that the sizes stay as uneven as they are in the sources.
//
// Everything follows from the seed. Memory depends on the catalogues only, not
// on the size of the corpus.
//
// Goals: words, lengths and sizes as real as the sources allow; the same bytes
// from the same seed and sources everywhere (integers decide, not floats).
// Non-goals: a model of advertisers' behaviour, clicks.
package corpus
