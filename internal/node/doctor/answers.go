package doctor

import (
	"fmt"

	"adshard/internal/node/httpapi/api"
)

// doFor says what to do when answers lack a shard, by the reason, in agreement with the table of
// reasons in docs/operations/watch.md.
var doFor = map[api.MissingReason]string{
	api.MissingReasonLate:        "has it more load than others (`adshard balance status`)? Give queries more time, or add slaves",
	api.MissingReasonSilent:      "its process is stopped, or its disk or host has failed: look at both; end a process that hangs (`kill -KILL PID`) and start it again",
	api.MissingReasonUnreachable: "is it running, is its host up, and does its `advertise` lead to it? If it ended, its log says why",
	api.MissingReasonOverloaded:  "add slaves or replicas: `adshard slaves add HOST:PORT`",
	api.MissingReasonOutdated:    "is the balancer running? Start one: `balancer --config FILE`",
	api.MissingReasonForeign:     "correct `advertise` of the slave, or `db` of the balancer",
	api.MissingReasonExcess:      "report it as a defect",
	api.MissingReasonFailed:      "report it as a defect, with the slave's log",
	api.MissingReasonBehind:      "wait until it is filled: `adshard slaves list --watch`; TROUBLE says whether it is stuck",
	api.MissingReasonVersion:     "update the older one of the two programs, in the order of docs/operations/upgrade.md; with a scorer, give slaves the file of its model",
	api.MissingReasonDamaged:     "nothing at first: it discards what is damaged and refills it; if it happens again, replace its disk",
}

// search examines the answer to the search.
func (e *examination) search() {
	p := e.probe
	if p == nil {
		return
	}
	if p.Failed != "" {
		if p.Silence.Elsewhere() {
			e.add(Answers, "AdshardFailedAnswers", "", fmt.Sprintf("a search at %s fails: %s", p.Address, p.Failed), p.Silence.away(p.Address)).away = hostOf(p.Address)
			return
		}
		e.add(Answers, "AdshardFailedAnswers", "", fmt.Sprintf("a search at %s fails: %s", p.Address, p.Failed),
			"is a master running there (`master --config FILE`), and does its `/readyz` miss anything? `--http` names another one, `--http none` none")
		return
	}
	if p.Answer == nil {
		return
	}
	for _, shard := range p.Answer.Coverage.Missing {
		reason := p.Answer.Coverage.Reasons[shard]
		e.add(Answers, "AdshardIncompleteAnswers", shard, fmt.Sprintf("answers lack %s: %s", shard, reason), doFor[reason])
	}
}

const (
	// mostLost is the share of answers that may be incomplete or fail, as in the alerts.
	mostLost = 0.001
	// slow is a time in seconds, written as the label of a histogram's bucket. At most the share
	// mostSlow of searches may take longer. Nothing is reported if there are fewer searches than
	// enough.
	slow     = "0.25"
	mostSlow = 0.01
	enough   = 100
)

// ratios examines the answers that masters gave between the two looks.
func (e *examination) ratios() {
	for i := range e.now.Ports {
		grown := e.grown(i)
		answers := where("adshard_answers_total", "operation", "search")
		complete, incomplete := grown.sum(answers.and("outcome", "complete")), grown.sum(answers.and("outcome", "incomplete"))
		if incomplete > mostLost*(complete+incomplete) && !e.hasAny("AdshardIncompleteAnswers") {
			e.add(Answers, "AdshardIncompleteAnswers", "", fmt.Sprintf("%.0f of %.0f answers lacked a shard within %s", incomplete, complete+incomplete, seconds(e.took)),
				"`adshard slaves list` says in what state slaves are; `coverage` of an answer names the shard and the reason")
		}
		failed := grown.sum(answers.and("status", "5..")) - grown.sum(answers.and("status", "5..").and("outcome", "overloaded"))
		if failed > mostLost*grown.sum(answers) && !e.hasAny("AdshardFailedAnswers") {
			e.add(Answers, "AdshardFailedAnswers", "", fmt.Sprintf("%.0f of %.0f searches failed within %s", failed, grown.sum(answers), seconds(e.took)),
				"the log of the master has the request's id of each; its `/readyz` says what it misses")
		}
		times := where("adshard_stage_seconds_bucket", "stage", "request")
		all, fast := grown.sum(times.and("le", `\+Inf`)), grown.sum(times.and("le", slow))
		if all >= enough && all-fast > mostSlow*all {
			e.add(Answers, "AdshardSlowAnswers", "", fmt.Sprintf("%.0f of %.0f searches took longer than %s s within %s", all-fast, all, slow, seconds(e.took)),
				"one shard alone: `adshard balance status`; all: add slaves; `slow_queries.after` of a master has it log the queries")
		}
	}
}
