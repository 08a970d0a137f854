// Package hotwriters measures what one ad group that changes all the time costs all
// others: how long changes of other groups take, from the return of their commit to
// the end of the first answer that has them, while one group of some size is
// changed a given number of times a second.
//
// Each turn has its own database and its own cluster of real processes. The
// programs to be compared take turns, so that other load on the machine affects all
// of them alike.
package hotwriters
