// Package splitkey estimates where a slice must be cut so that each half gets half of
// the requests, from only the keys of the requests: in constant memory, without
// allocations, one step for each request.
//
// Source: Cruz, Maia, Oliveira, Vilaça, "Workload-aware table splitting for NoSQL",
// SAC 2014, §3: Algorithm 1 (§3.1) and the three instantiations of its steps (§3.2).
// The key begins at the first request's; each request above it moves it up, each other
// one down, and it stays between the lowest and the highest key requested so far. It
// rests where both directions are equally likely, which is the median. By how much it
// moves is the Method.
//
// Where the paper leaves room, this package reads it as follows.
//
//   - A request for the split key itself moves it down: Algorithm 1 has "if key >
//     splitkey … else". So half of the requests are for keys up to the split key: the
//     left half ends with it.
//   - "The step size increases in a quadratic fashion" while steps go in one direction:
//     it doubles. Steps of 1, 4, 9, … do not reach the median of 300,000 keys as soon
//     as figure 5 shows.
//   - "Consecutive ping-pong pairs", of one increase and one decrease each: n reversals
//     in a row, in which each step goes against the one before. 2n of them would be so
//     unlikely at n = 8 that the method hardly ever changed.
//   - Once the method has changed to linear steps, it does not change back.
//   - "Increased by a constant value": by a unit, 1 in the paper's experiments. Where
//     keys are sparse it is a part of the interval's width.
//
// Goals: what the paper describes, step by step, for any keys of 64 bits. Non-goals: a
// criterion for when the estimate is good, which the paper leaves open (§5); weights of
// requests (a caller whose requests differ in cost adds each in proportion to it);
// forgetting what was requested long ago (the caller begins a new estimate).
package splitkey
