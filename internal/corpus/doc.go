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
// Keywords are runs of 1 to 6 neighbouring words of a title (most 2 or 3), the whole
// title as an exact keyword, 4 % with words around (cheap …, … cena), and the keyword
// lists of sources: about 11 a group; 30 % broad, 30 % phrase, 40 % exact. A third has
// a bid of its own.
//
// Bids are log-normal (sigma 0.7) around a median that grows with the square root of
// the price. Qualities are 1 to 10 around 6, 5 % have none; with Options.Specific, as in
// the demo, they follow how few titles have the words of a keyword. 15 % of the
// campaigns and 10 % of the groups have modifiers, 20 % and 4 % negatives; 2 % of
// keywords and ads, 1 % of groups and 0.5 % of campaigns are paused.
//
// 40 % of the queries are real, as far as the logs are there: 15 % typed into a
// furniture shop (WANDS), 10 % titles of Wikipedia articles by their views, 10 %
// questions (Natural Questions), 5 % German terms of an open-data portal by their
// impressions. The others are derived from the titles: a run of words, 70 % in lower
// case, 10 % with words around, 10 % in reverse order, 15 % without diacritics.
//
// The seed determines everything. Memory depends on the catalogues only, not
// on the size of the corpus.
//
// Goals: words, lengths and sizes as real as the sources allow; the same bytes
// from the same seed and sources everywhere (integers decide, not floats).
// Non-goals: a model of advertisers' behaviour, clicks.
package corpus
