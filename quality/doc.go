// Package quality learns from impressions and clicks how likely an ad is to be
// clicked, and what quality (serving.md §4) its keyword has.
//
// Counts are kept as they were seen: whole numbers by campaign, group, keyword, ad,
// position and day. Those of several collectors add up to the same counts in whatever
// order they come. Learn makes a Model of them:
//
//   - Counts decay with their age by a half-life.
//   - A click needs that the user looks and likes what is there: its probability is
//     that of looking at the position times the click rate of the ad at the top (the
//     position-based model: Craswell, Zoeter, Taylor and Ramsey, "An experimental
//     comparison of click position-bias models", WSDM 2008; Richardson, Dominowska and
//     Ragno, "Predicting clicks", WWW 2007). How often positions are looked at is
//     given or estimated from the ads that were shown in several of them.
//   - What has few clicks borrows from what it belongs to: ad, keyword, group,
//     campaign, all. How much is given, or estimated from how much they differ.
//   - What is known badly may get an upper bound in place of its mean, so that it is
//     shown and becomes known.
//
// A Scale turns rates into qualities, 1 to 10. docs/decisions/032-quality.md says why
// all is as it is, docs/experiments/clicks.md what it brings.
//
// The package is pure: numbers in, numbers out. The same counts give the same bits on
// machines of one architecture: sums are in a fixed order.
//
// Non-goals: the query (a rate does not depend on it), choosing among a group's ads, storage.
package quality
