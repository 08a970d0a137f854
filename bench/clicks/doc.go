// Package clicks simulates users who click ads with known probabilities. It measures
// what an auction is worth whose qualities are learned from their clicks (package
// quality), and compares it with an auction that knows the probabilities and with
// others that do not learn.
//
// What competes for a query is what the oracle of serving.md §1 to §4 finds in the
// database; order and prices are those of package auction. Each step simulates a day,
// as qualities change once a day. A day's expected value is calculated, not drawn;
// but which queries are asked and what is clicked, and so what can be learned, is
// random.
//
// Goals: the same figures from the same seed on machines of one architecture; losses
// separated by cause. Non-goals: budgets, and users who differ from the model of
// package quality (they look at positions independently of what stands there).
package clicks
