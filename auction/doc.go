// Package auction ranks candidates, places and prices them (serving.md §4 and
// §5). It is pure: numbers in, numbers out, integers only; nothing it returns
// depends on the order of its input.
//
// Money is in micros, factors and modifiers in permille. Input within the limits of serving.md (a
// bid to 10,000 units, a modifier to +900 %, quality 1 to 10) gives scores below 2⁶³; beyond the
// limits, results saturate instead of wrapping around.
//
// Non-goals: which keywords match (package search), budgets, pacing (package
// budget).
package auction
