// Package ablation tells what each idea of the product's search brings: the
// product as it is beside the product with one idea switched off, one at a time.
//
// The product has no switches for that. An idea is switched off by other words in
// its source (Ideas), which the Go tool compiles in the place of the file (go
// build -overlay). What comes out is a program that gives the same answers; it is
// a program of its own, so that each has its turn in a process of its own, again
// and again, in another order each time (Run). In each process the layout floor is
// measured beside the product: what is compared is how many times as long as the
// floor of the same minute the product takes, so that a machine that was slower
// then does not make an idea look good.
//
// Pairs of words as anchors, an idea that the product does without, are counted
// instead (CountPairs).
//
// Goals: each idea's own worth, under the same conditions. Non-goals: what two
// ideas bring together; one that makes another needless looks worth little.
package ablation
