// Package clicks simulates users who click ads with known probabilities, and measures
// what an auction is worth whose qualities are learned from their clicks (package
// quality), beside one that knows the probabilities and others that do not learn.
//
// What competes for a query is what the oracle of serving.md §1 to §4 finds in the
// database; order and prices are package auction's. A day is simulated at a time, as
// qualities change once a day: what is expected of it is calculated, not drawn, but
// which queries are asked and what is clicked, and so what can be learned, is chance.
//
// Goals: the same figures from the same seed on machines of one architecture; what is
// lost is told apart by cause. Non-goals: users that are not as the model of package
// quality says (they look at positions independently of what stands there), budgets.
package clicks
