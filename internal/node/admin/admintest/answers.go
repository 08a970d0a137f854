package admintest

import (
	"math"

	"adshard/internal/node/httpapi/api"
)

// NewControl returns a balancer of three slaves, one of which is hot, with slice 7 moving, slice 3
// moved, slice 4 kept in place, and slice 5 too hot for any move to help.
func NewControl() *Control {
	return &Control{
		Slaves: &api.SlaveList{Epoch: 3, View: 42, Clock: 9000, Slaves: slaves()},
		Status: status(), Plan: plan(), Strategies: strategies(), History: history(),
		Slices: &api.SliceList{View: 42, Total: 9, Measured: true, Slices: []api.SliceInfo{
			{Slice: 5, Lo: "2000000000000000", Hi: "2fffffffffffffff", Slave: "slave-0", Generation: 3, FromView: 1, Items: 1, Weight: 10, Load: 600_000, Share: 0.4, Hot: 1,
				Dominant: &api.HotItem{Key: "2a00000000000000", Load: 600_000, Share: 1, GroupID: 8, Advertiser: "Acme <&>", Campaign: "Cables", Group: "USB"}},
			{Slice: 7, Lo: "4000000000000000", Hi: "7fffffffffffffff", Slave: "slave-0", Generation: 9, FromView: 1, Items: 812, Weight: 9000, Load: 120_000, Share: 0.08, Hot: 30, To: "slave-2"},
		}},
		Stories: map[uint64][]*api.SliceStory{3: {moved()}, 4: {stayed()}, 5: {stuck()}, 7: {moving()}, 8: {away()}},
	}
}

func slaves() []api.Slave {
	return []api.Slave{
		{Name: "slave-0", Address: "10.0.0.1:7100", State: api.SlaveStateActive, Alive: true, Serving: true, Slices: 5, MovingOut: 1,
			SharePermille: 400, Load: 900_000, OverMean: 1.8, Groups: 1200, Keywords: 34000, Bytes: 9 << 20, AppliedClock: 9000},
		{Name: "slave-1", Address: "10.0.0.2:7100", State: api.SlaveStateDraining, Alive: true, Serving: true, Slices: 3,
			SharePermille: 350, Load: 400_000, OverMean: 0.8, Groups: 1100, Keywords: 30000, Bytes: 8 << 20, AppliedClock: 8990},
		{Name: "slave-2", Address: "10.0.0.3:7100", State: api.SlaveStateActive, MovingIn: 1, Slices: 1, SharePermille: 250, Load: 200_000,
			OverMean: 0.4, Groups: 300, Keywords: 9000, Bytes: 2 << 20, AppliedClock: 7000, Trouble: "the disk is full", TroubleKind: "no_space"},
	}
}

func status() *api.BalanceStatus {
	return &api.BalanceStatus{
		Epoch: 3, View: 42, PublishedView: 41, Clock: 9000, Items: 2600, Slices: 9, Replicas: 1, Strategy: "weighted-move",
		Options: map[string]string{"move-share": "0.09"}, Measured: true, MaxOverMean: 1.8, LowerBound: 1.2,
		BoundWhy: "cannot be balanced: ad group 8 alone is 1.20 x the mean", BoundGroup: &api.GroupName{GroupID: 8, Advertiser: "Acme <&>", Campaign: "Cables", Group: "USB"}, LeastMove: api.LeastMove{Weight: 7000, Share: 0.07},
		Moved:         api.Moved{Moves: 12, Cancelled: 1, Items: 5400, Bytes: 31 << 20},
		MovesInFlight: []api.SliceMove{*moving().Move},
		Slaves: []api.SlaveLoad{
			{Name: "slave-0", State: api.SlaveStateActive, Alive: true, Load: 900_000, OverMean: 1.8, Slices: 5, Items: 1200, Weight: 40_000, Replicas: []string{"slave-0"}},
			{Name: "slave-1", State: api.SlaveStateDraining, Alive: true, Load: 400_000, OverMean: 0.8, Slices: 3, Items: 1100, Weight: 35_000, Replicas: []string{"slave-1"}},
			{Name: "slave-2", State: api.SlaveStateActive, Load: 200_000, OverMean: 0.4, Slices: 1, Items: 300, Weight: 25_000, Replicas: []string{"slave-2"}},
		},
		Last: &api.Iteration{AgeMs: 4200, Operations: 1, Reasons: []string{
			"slice 7 goes to slave-2: it takes most from slave-0 for what it weighs", "slice 5 stays: it is hotter than any slave has room for"}},
		Shadows: []api.Prediction{
			{Strategy: "original", MaxOverMean: 1.8},
			{Strategy: "random", MaxOverMean: 1.7, Moves: 4, Items: 4, Weight: 40, Share: 0.0004},
		},
		Events: []api.Event{
			{AgeMs: 65_000, Slice: 3, Text: "has left slave-0 for slave-2: 214 ad groups"},
			{AgeMs: 3_700_000, Text: "slave-2 joined"},
		},
		Distributors: []api.DistributorInfo{{Name: "balancer", Alive: true, Clock: 9000, Slaves: []string{"slave-0", "slave-1", "slave-2"}}},
		Masters:      []api.MasterInfo{{Name: "master-0", View: 41, SeenMs: 300, Traffic: traffic(), TimeoutMs: 500}},
		Traffic:      traffic(),
		IgnoredLoads: map[string]uint64{"late": 2},
		Copies:       []api.Copy{{Slave: "slave-2", Source: "slave-1", Bytes: 3 << 20, Total: 9 << 20, PerSecond: 2 << 20, LeftMs: 3000}},
		Scrub: api.Scrub{IntervalMs: 86_400_000, Running: true, Progress: 0.34, Passes: 2, Differences: 1,
			Last:      api.ScrubPass{AgeMs: 29_000_000, TookMs: 86_000_000, SpentMs: 41_000, Items: 2580, Parts: 9, Left: 1},
			Rechecks:  []api.Recheck{{Slave: "slave-1", Slices: 12, Compared: 5}},
			Condemned: []api.Condemned{{Slave: "slave-0", Slice: 7, Reason: "its copy differs from the source of truth: items of bin 3 of 64", AgeMs: 900}}},
	}
}

func plan() *api.BalancePlan {
	return &api.BalancePlan{
		Strategy: "weighted-move", Measured: true, Before: 1.8, After: 1.25, LowerBound: 1.2, BoundWhy: status().BoundWhy,
		LeastMove: api.LeastMove{Weight: 7000, Share: 0.07},
		Operations: []api.PlannedOperation{
			{Kind: api.OperationKindMove, Slice: 4, From: "slave-0", To: "slave-2", Items: 200, Weight: 4000, Load: 90_000, Why: "it takes most from slave-0 for what it weighs"},
			{Kind: api.OperationKindSplit, Slice: 6, At: "5000000000000000", New: 12, From: "slave-0", Items: 500, Weight: 5000, Load: 99_000, Why: "it has twice the mean of all slices"},
		},
		Left:  []api.LeftAlone{{Slice: 5, Why: "hotter than any slave has room for"}, {Why: "slices are not merged: there are few"}},
		Moves: 1, Items: 200, Weight: 4000, Share: 0.04,
		Shadows: status().Shadows,
	}
}

func strategies() *api.StrategyList {
	return &api.StrategyList{Strategies: []api.StrategyInfo{
		{Name: "original", Summary: "packs whole advertisers once, by weight", Unusable: "it needs the order advertiser, and this is hash", Options: []api.StrategyOption{}, Prediction: &status().Shadows[0]},
		{Name: "weighted-move", Current: true, Summary: "Slicer's Weighted-Move (OSDI'16)", Options: []api.StrategyOption{
			{Name: "merge-share", Value: "0.01", Default: "0.01", Help: "the most of the weight that merges move"},
			{Name: "move-share", Value: "0.05", Default: "0.09", Help: "the most of the weight that moves in an iteration"},
		}},
		{Name: "rao-one", Compared: true, Summary: "light slaves draw heavy ones (Rao et al., 2003)", Options: []api.StrategyOption{
			{Name: "delta", Value: "0.1", Default: "0.1", Help: "how far above the mean a slave may be that is light"},
		}},
	}}
}

// history returns a day in which traffic falls and rises, a slave is lost for a while, an ad group becomes hot, and nothing is known of an hour.
func history() *api.BalanceHistory {
	const interval, points = 5 * 60 * 1000, 288
	h := &api.BalanceHistory{IntervalMs: interval}
	for i := range points {
		if i >= 60 && i < 72 {
			continue
		}
		wave := math.Sin(2*math.Pi*float64(i)/points + 1.2)
		p := api.HistoryPoint{AgeMs: int64(points-1-i)*interval + 137_000, MaxOverMean: 1.3 + 0.08*wave, LowerBound: 1.2}
		noise := float64(i*7919%97) / 97
		p.Traffic = &api.Traffic{OverMs: interval, PerSecond: 520 + 260*wave + 60*noise, P50Micros: 800 + int64(130*wave+60*noise), P99Micros: 3800 + int64(900*wave+700*noise)}
		if i >= 190 && i < 204 { // a slave is lost, and others are refilled
			p.Traffic.Incomplete, p.Traffic.Refused, p.Traffic.P99Micros = 0.011*noise, 0.004, p.Traffic.P99Micros*4
		}
		if i >= 190 && i < 230 {
			p.MaxOverMean += 0.45 * float64(230-i) / 40
		}
		if i >= 262 { // an ad group becomes hot
			p.MaxOverMean += 0.42 * float64(i-262) / 25
		}
		p.Shadows = map[string]float64{"original": 1.9, "random": p.MaxOverMean + 0.1 + 0.05*noise}
		h.Points = append(h.Points, p)
	}
	return h
}

// traffic returns what masters answer.
func traffic() *api.Traffic {
	return &api.Traffic{OverMs: 60_000, PerSecond: 812.5, Incomplete: 0, Refused: 0.002, P50Micros: 910, P99Micros: 4342}
}
