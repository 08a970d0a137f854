// Package figures turns the reports of many runs into one Markdown table, each
// figure beside its target.
package figures
