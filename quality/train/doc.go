// Package train makes a scorer's model (serving.md §16, package scorer) from counted impressions and clicks.
//
// These are the counts, and the features that they carry:
//
//   - Collectors count by advertiser, campaign, keyword, ad, position and day. With the keyword's data in the database this gives
//     match, words, quality, advertiser and campaign. The day gives the weekday in the advertiser's calendar, which differs from
//     that in UTC near midnight.
//   - Event tokens have neither the device nor the site, and only a hash of the query; the hour is lost with the single event. The
//     query log does not say which ads were shown. So the counts of collectors say nothing about requests except the weekday.
//   - Files of counts (package countfile) may have the columns device, hour, query_words and site, which those who show the ads
//     fill in. A feature is used if all rows have it.
//
// The model is a factor on top of quality, so it learns what quality does not say. Without it, the expected clicks of a keyword in
// a position are
//
//	impressions × examination of the position (package quality) × quality × match factor × a constant
//
// where the constant makes them add up to the clicks. With the model they are multiplied by the factor 2 ÷ (1 + e^−z), where z is
// the sum of the weights that apply. The weights are those of greatest likelihood for Poisson distributed clicks, each with a
// normal prior around 0. They are found by L-BFGS (gonum). A value with few clicks has no weight. The bias is chosen such that as
// many clicks are expected as without the model: the mean factor is 1000, so prices stay comparable. The variant factor (§2) is not
// counted; it is taken as 1. Examination is estimated before the weights: if a value is mostly shown at certain positions, a part
// of its effect is attributed to them.
//
// One keyword in five is held out, chosen by a hash of its id. On these keywords the log loss with the finished file, with its
// integers, is compared with the loss without a model. A model whose gain is not above twice its standard error is refused.
// Keywords are the unit of that error, since impressions of one keyword are alike.
//
// The same counts give the same file in any order, on machines of one architecture.
//
// Non-goals: trees; choosing the counts; deciding when a model is trained again.
package train
