// Package report has the operator's commands on what collectors count: reports of clicks and spend, single events,
// and learned qualities.
package report
