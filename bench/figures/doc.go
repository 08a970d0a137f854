// Package figures turns the reports of many runs into one Markdown table, each
// figure beside its target, and finds the pages whose figures have become old.
package figures
