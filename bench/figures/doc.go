// Package figures turns the reports of many runs into one Markdown table, with
// each figure beside its target. It also finds the pages whose figures are
// outdated.
package figures
