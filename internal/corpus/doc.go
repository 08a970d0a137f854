// Package corpus derives a Google Ads Editor file of any size, and matching
// queries, from real catalogues and real query logs.
//
// None of the sources has campaigns, ad groups, bids or match types, so these are derived: a brand or a project's
// host is an advertiser, a category or section is a campaign, a title is an ad group, runs of words of the title and
// lists of keywords are its keywords, and a price is the base of its bids.
//
// Up to the number of keywords that the catalogues give (about 1.1 million) each title is used once; a smaller corpus
// samples the titles. A larger one uses the titles again, round after round, recombined each time. The beginning of
// one title is joined to the end of another at a word that both contain, so that words keep their frequencies and
// most of their neighbours. Rare model numbers get new digits and letters, so that the vocabulary's tail keeps
// growing. A title then belongs to the same advertiser or to one that is new in that round, so that sizes stay as
// uneven as they are in the sources.
//
// Keywords are runs of 1 to 6 neighbouring words of a title (most 2 or 3), the whole title as an exact keyword, 4 %
// with words around (cheap …, … cena), and the keyword lists of sources: about 11 a group; 30 % broad, 30 % phrase,
// 40 % exact. A third of the keywords have a bid of their own.
//
// Bids are log-normal (sigma 0.7) around a median that grows with the square root of the price. Qualities are 1 to 10
// around 6, and 5 % of the keywords have none. With Options.Specific, as in the demo, qualities depend on how few
// titles have the words of a keyword. 15 % of the campaigns and 10 % of the groups have modifiers, 20 % and 4 % have
// negatives; 2 % of keywords and ads, 1 % of groups and 0.5 % of campaigns are paused.
//
// 40 % of the queries are real, if the logs exist: 15 % typed into a furniture shop (WANDS), 10 % titles of Wikipedia
// articles by their views, 10 % questions (Natural Questions), 5 % German terms of an open-data portal by their
// impressions. The others are derived from the titles: a run of words, 70 % in lower case, 10 % with words around it,
// 10 % in reverse order, 15 % without diacritics.
//
// With Options.Demo titles are not recombined; each round has other advertisers with believable names, and queries are the first words
// of titles.
//
// The seed determines everything. The memory needed depends only on the catalogues, not on the size of the corpus.
//
// Goals: words, lengths and sizes as real as the sources allow; the same bytes from the same seed and sources
// everywhere (integers decide, not floats). Non-goals: a model of advertisers' behaviour; clicks.
package corpus
