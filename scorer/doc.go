// Package scorer is the scorer that comes with adshard: a model that is read from a file and implements auction.Scorer with integers
// (serving.md §16).
//
// A model is additive: each feature adds a weight, and each tree one of its leaves. A logistic curve turns their sum z into the factor, the
// integer nearest to 2000 ÷ (1 + e^(−z ÷ 256)), which is 1000 at z = 0. The curve is a table computed with integers, so that it is the same
// on every machine.
//
// Goals: the same factors on every slave; a file is accepted as a whole or refused with what is wrong in it. Non-goals: training (package
// quality/train), choosing the file (package internal/node/scorers).
package scorer
