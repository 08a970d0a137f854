// Package train makes a scorer's model (serving.md §16, package scorer) of counted impressions and clicks.
//
// What is counted, and which features it carries:
//
//   - Collectors count by advertiser, campaign, keyword, ad, position and day. With the keyword as the database has it these are
//     match, words, quality, advertiser and campaign, and the day is a weekday: that of the advertiser's calendar, which near
//     midnight is another one than in UTC.
//   - Event tokens have neither the device nor the site, and only a hash of the query; the hour is forgotten with the single event.
//     The query log does not say which ads were shown. So what collectors count tells of requests nothing but the weekday.
//   - Files of counts (package countfile) may have the columns device, hour, query_words and site, filled in by those who show the
//     ads. A feature is used if all rows have it.
//
// The model multiplies what is there, so it learns what quality does not tell. Without it the expected clicks of a keyword in a
// position are
//
//	impressions × examination of the position (package quality) × quality × match factor × a constant
//
// with the constant by which they add up to the clicks. With it they are multiplied by the factor, 2 ÷ (1 + e^−z), where z is the
// sum of the weights that apply. The weights are those of greatest likelihood for Poisson distributed clicks, each with a
// normal prior around 0, found by L-BFGS (gonum). A value with few clicks has none. The bias is such that clicks are expected
// as many as without the model: the mean factor is 1000, so prices stay comparable. The variant factor (§2) is not counted, and
// taken as 1. Examination is estimated before the weights: where a value is mostly shown at some positions, a part of its effect is
// taken for theirs.
//
// One keyword of five is held out, by a hash of its id. On these the finished file, with its integers, is compared with no model by
// the log loss. A model that is not better by twice the standard error of the gain is refused. Keywords are the unit of that error,
// since impressions of one keyword are alike.
//
// The same counts give the same file in any order, on machines of one architecture.
//
// Non-goals: trees; which counts; when a model is made again.
package train
