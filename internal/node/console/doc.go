// Package console is the pages that an admin port shows to a person in a browser: the state
// of the cluster, its balancing, its slices, and what a query gets and why.
//
// A page is made of answers of the port's own calls, asked in the name of the viewer, and a form
// becomes one of these calls. So a page shows and allows no more than the calls do; refusals and
// log lines are those of the calls.
//
// Goals: pages that are whole without scripts, and that no script or style from elsewhere can
// enter; the only script fetches a page again. Non-goals: what the calls cannot do; users and
// passwords beside the port's tokens.
package console
