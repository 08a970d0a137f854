// Package splitkey estimates at which key a slice must be cut so that each half gets
// half of the requests. It sees only the keys of the requests. It uses constant memory,
// allocates nothing, and does one step for each request.
//
// Source: Cruz, Maia, Oliveira, Vilaça, "Workload-aware table splitting for NoSQL", SAC
// 2014, §3: Algorithm 1 (§3.1) and the three instantiations of its steps (§3.2). The
// split key begins at the key of the first request. Each request above it moves it up,
// and each other request moves it down; it stays between the lowest and the highest key
// requested so far. It comes to rest where both directions are equally likely, which is
// the median. The Method says how far it moves.
//
// Where the paper leaves choices, this package makes these.
//
//   - A request for the split key itself moves it down, since Algorithm 1 has "if key >
//     splitkey … else". So half of the requests are for keys up to the split key, and
//     the left half ends with it.
//   - "The step size increases in a quadratic fashion" while steps go in one direction:
//     here it doubles. Steps of 1, 4, 9, … do not reach the median of 300,000 keys as
//     soon as figure 5 shows.
//   - "Consecutive ping-pong pairs", of one increase and one decrease each: here these
//     are n reversals in a row, in which each step goes against the step before. With
//     2n reversals, which are very unlikely at n = 8, the method would hardly ever
//     change.
//   - Once the method has changed to linear steps, it does not change back.
//   - "Increased by a constant value": by a unit, which is 1 in the paper's
//     experiments. If keys are sparse, the unit should be a part of the interval's
//     width.
//
// Goals: to do what the paper describes, step by step, for any keys of 64 bits.
// Non-goals: a criterion for when the estimate is good, which the paper leaves open
// (§5); weights of requests (if requests differ in cost, the caller adds each several
// times, in proportion to its cost); forgetting old requests (the caller begins a new
// estimate).
package splitkey
