// Package targeting decides where and when a keyword takes part in an auction, and at which bid (serving.md §11
// to §14).
//
// Its types are what campaigns, groups and advertisers may say ([Schedule], [Locations], [Audiences], [Sites],
// [Categories]), what a request says ([Context]), and the one rule that compares both ([Judge]):
//
//	j := targeting.NewJudge(context)
//	outcome := j.Campaign(c)          // once for each campaign
//	outcome = j.Group(c, g)           // where a group has audiences or sites of its own
//	if outcome.Verdict == targeting.Pass { m = outcome.Factors.Apply(m) }
//
// The outcome depends on the request as the master resolved it and on these data only: not on clocks, tables of places
// or installed time zones of the machine that decides.
package targeting
