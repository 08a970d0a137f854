package admintest

import "adshard/internal/node/httpapi/api"

func story(slice uint64, verdict api.SliceVerdict, decision string) *api.SliceStory {
	return &api.SliceStory{
		Slice: slice, Lo: "4000000000000000", Hi: "7fffffffffffffff", Slave: "slave-0", Generation: 9, FromView: 1, Items: 812,
		Weight: 9000, Measured: true, Load: 120_000, ShareOfSlave: 0.13, ShareOfAll: 0.08, SlaveOverMean: 1.8, MaxOverMean: 1.8,
		LowerBound: 1.2, Verdict: verdict, Decision: decision, Hot: []api.HotItem{}, Events: []api.Event{}, Reasons: []string{},
		Targets: []api.Target{}, Needs: []string{},
	}
}

func away() *api.SliceStory {
	s := story(8, api.SliceVerdictAway, "slave-0 has been away since 2026-01-31T11:59:48Z (12s): until it is back, or another slave serves the slice, answers are incomplete; if it is not back in 4m48s (`evacuate_after` is 5m0s), its slices are filled on other slaves from the database")
	s.Needs = []string{"slave-0 must be restarted: with its old `dir` it catches up, with an empty one it is refilled",
		"or fill its slices on other slaves now: `adshard slaves drain slave-0`"}
	return s
}

func moving() *api.SliceStory {
	s := story(7, api.SliceVerdictMoving, "it goes to slave-2: it takes most from slave-0 for what it weighs")
	s.Move = &api.SliceMove{Slice: 7, From: "slave-0", To: "slave-2", Phase: api.MovePhaseCopying, Items: 812, Weight: 9000,
		AgeMs: 2300, Cause: "weighted-move: it takes most from slave-0 for what it weighs", WaitsFor: "slave-2 has not taken all of it yet"}
	s.Events = []api.Event{{AgeMs: 2300, Slice: 7, Text: "started to slave-2"}}
	return s
}

func moved() *api.SliceStory {
	s := story(3, api.SliceVerdictMoved, "it came from slave-0: slave-0 had 1.9 x the mean")
	s.Slave, s.FromView, s.SlaveOverMean = "slave-2", 42, 0.4
	s.Events = []api.Event{
		{AgeMs: 65_000, Slice: 3, Text: "switched from slave-0 to slave-2 in view 42"},
		{AgeMs: 71_000, Slice: 3, Text: "started to slave-2: slave-0 had 1.9 x the mean"},
	}
	s.Targets = []api.Target{{Slave: "slave-0", Why: "it left there 1 interval ago, and its load has not doubled", OverMean: 1.9}}
	s.Needs = []string{"its load has to double, or 9 intervals to pass, before it goes back to slave-0"}
	return s
}

func stayed() *api.SliceStory {
	s := story(4, api.SliceVerdictStayed, "nothing better was found for it")
	s.Hot = []api.HotItem{
		{Key: "4a00000000000001", Load: 70_000, Share: 0.58, GroupID: 31, Advertiser: "Acme <&>", Campaign: "Lamps", Group: "Desk"},
		{Key: "5300000000000002", Load: 6_000, Share: 0.05, GroupID: 32},
	}
	s.Reasons = []string{"slice 4 stays: it does not lower the maximum"}
	s.Targets = []api.Target{{Slave: "slave-1", Why: "it is draining", OverMean: 1}, {Slave: "slave-2", May: true, OverMean: 0.64}}
	s.Needs = []string{"its load has to grow by 30,000 a second"}
	return s
}

func stuck() *api.SliceStory {
	s := story(5, api.SliceVerdictStuck, "ad group 8 alone is 1.2 x the mean, and an ad group is not split")
	s.Items, s.Load, s.ShareOfSlave, s.ShareOfAll = 1, 600_000, 0.67, 0.4
	s.Hot = []api.HotItem{{Key: "2a00000000000000", Load: 600_000, Share: 1, GroupID: 8, Advertiser: "Acme <&>", Campaign: "Cables", Group: "USB"}}
	s.Needs = []string{"its load has to fall below 500,000 a second, or there have to be fewer slaves"}
	return s
}
