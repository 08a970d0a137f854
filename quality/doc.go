// Package quality learns from impressions and clicks how likely an ad is to be clicked, and what
// quality (serving.md §4) its keyword should have.
//
// Counts are kept as they were seen: whole numbers by campaign, group, keyword, ad, position and
// day. Those of several collectors add up to the same counts in any order. Learn makes a Model from
// them:
//
//   - Counts decay with their age by a half-life.
//   - A click happens if the user looks and likes what is there: its probability is that of looking
//     at the position times the click rate of the ad at the top (the position-based model:
//     Craswell, Zoeter, Taylor and Ramsey, "An experimental comparison of click position-bias
//     models", WSDM 2008; Richardson, Dominowska and Ragno, "Predicting clicks", WWW 2007). How
//     often users look at positions is given, or estimated from the ads that were shown in several
//     positions.
//   - An ad, keyword, group or campaign with few clicks borrows from the level above it, up to the
//     whole. How much it borrows is given, or estimated from how much the rates differ.
//   - An uncertain rate may be replaced by an upper bound instead of its mean, so that the ad is
//     shown and its rate becomes known.
//
// A Scale turns rates into qualities, 1 to 10. docs/decisions/032-quality.md gives the reasons for
// this design, docs/experiments/clicks.md its effect.
//
// The package is pure: numbers in, numbers out. The same counts give the same bits on
// machines of one architecture: sums are in a fixed order.
//
// Non-goals: the query (a rate does not depend on it), choosing among a group's ads, storage.
package quality
