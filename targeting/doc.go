// Package targeting decides where and when a keyword takes part in an auction, and at which bid (serving.md §11
// to §14).
//
// Its types are what campaigns, groups and advertisers may set ([Schedule], [Locations], [Audiences], [Sites],
// [Categories]), what a request says ([Context]), and the one rule that compares both ([Judge]):
//
//	j := targeting.NewJudge(context)
//	outcome := j.Group(c, g, owner)
//	if outcome.Verdict == targeting.Pass { m = outcome.Factors.Apply(m) }
//
// Searches meet the same few [Profile]s again and again. [Judge.Profile] remembers the result for each during a
// request.
//
// The outcome depends only on the request as the master resolved it and on these data, not on the clocks, tables of
// places or installed time zones of the machine that decides.
package targeting
