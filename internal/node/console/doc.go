// Package console is the pages that an admin port shows to a person in a browser: the state
// of the cluster, its balancing, its slices, and what a query gets and why.
//
// A page is made of answers of the port's own calls, asked in the name of whoever looks at
// it, and a form becomes one of these calls. So a page shows nobody more, and lets nobody do
// more, than the calls themselves; refusals and log lines are theirs.
//
// Goals: pages that are whole without scripts, and that no script or style from elsewhere can
// enter; the only script fetches a page again. Non-goals: what the calls cannot do; users and
// passwords beside the port's tokens.
package console
