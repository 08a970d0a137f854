// Package console makes the pages that an admin port shows to a person in a browser: the state of
// the cluster, its balancing, its slices, and what a query gets and why.
//
// A page is made from answers of the port's own calls, made in the name of the viewer, and a form
// becomes one of these calls. So a page shows and allows no more than the calls do, and refusals
// and log lines are those of the calls.
//
// Goals: pages that are complete without scripts, and into which no script or style from elsewhere
// can get; the only script fetches a page again. Non-goals: anything that the calls cannot do;
// users and passwords besides the port's tokens.
package console
