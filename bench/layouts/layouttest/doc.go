// Package layouttest holds layouts of keywords to what package layouts promises:
// Run is the suite that each of them passes, Oracle the slow answer that theirs
// are compared with.
//
// Goals: a layout that passes may be measured. Non-goals: how fast it is.
package layouttest
