package main

// group is a group of pages in the navigation.
type group struct {
	title string
	// pages are paths in the checkout. A path that ends with a slash is the list of a directory's pages. A path that
	// ends with an asterisk is all of the directory's pages.
	pages []string
}

// home is the first page of the site.
const home = "README.md"

// generated is where the pages that are made from the program would be if they were files.
const generated = "docs/reference/"

// groups are the groups of the navigation.
var groups = []group{
	{"Tutorial", []string{"docs/tutorial.md"}},
	{"How-to", []string{
		"docs/install.md", "docs/production.md", "docs/import.md", "docs/languages.md", "docs/targeting.md", "docs/scorer.md", "docs/locations.md", "docs/blocklists.md", "docs/placements.md", "docs/data.md", "docs/console.md", "docs/sizing.md", "docs/events.md", "docs/strategies.md",
	}},
	{"Operation", []string{
		"docs/operations.md", "docs/operations/start.md", "docs/operations/postgresql.md", "docs/operations/secure.md", "docs/operations/standby.md",
		"docs/operations/scale.md", "docs/operations/balance.md", "docs/operations/upgrade.md", "docs/operations/backup.md", "docs/operations/watch.md",
		"docs/operations/trouble.md", "docs/operations/limits.md", "docs/operations/output.md", "docs/runbook.md",
	}},
	{"Reference", []string{
		generated + "commands.md", generated + "configuration.md", generated + "api.md", generated + "metrics.md",
		"docs/format.md", "docs/stream.md", "docs/spec/serving.md", "docs/spec/design.md", "docs/glossary.md", "docs/sources.md", "CHANGELOG.md",
	}},
	{"Explanation", []string{
		"docs/architecture.md", "docs/search.md", "docs/budgets.md", "docs/quality.md", "docs/counters.md", "docs/reliability.md", "docs/compare.md", "docs/research/newcomers.md", "docs/decisions/",
		"CONTRIBUTING.md",
	}},
	{"Experiments", []string{"docs/experiments.md", "docs/figures.md", "docs/experiments/", "docs/experiments/*"}},
}

// lists has the titles of lists of a directory's pages.
var lists = map[string]string{
	"docs/decisions/":   "Decisions",
	"docs/experiments/": "All experiments and their reports",
}
