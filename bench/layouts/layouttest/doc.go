// Package layouttest tests that layouts of keywords do what package layouts
// promises: Run is the suite that each of them must pass; Oracle gives slow but
// simple answers with which theirs are compared.
//
// Goals: a layout that passes may be measured. Non-goals: how fast it is.
package layouttest
