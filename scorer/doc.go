// Package scorer has the scorer that comes with adshard: a model read from a file, an auction.Scorer in integers (serving.md §16).
//
// A model is an additive one: each feature adds a weight, and each tree one of its leaves. Their sum z becomes the factor by
// the logistic curve, the integer nearest to 2000 ÷ (1 + e^(−z ÷ 256)): 1000 at z = 0. The curve is a table that is made with
// integers, so that each machine has the same one.
//
// Goals: the same factors on every slave; a file is taken whole or refused with what is wrong in it. Non-goals: training (package quality/train);
// which file (package internal/node/scorers).
package scorer
