// Package hotwriters measures what one ad group that changes all the time costs
// everyone else: how long changes of other groups take, from the return of their
// commit to the end of the first answer that has them, while one group of some size
// is changed a given number of times a second.
//
// Each turn has a database and a cluster of real processes of its own. The programs
// that are compared take turns, so that whatever else the machine does meets all of
// them.
package hotwriters
