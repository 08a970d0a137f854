// Package votes is an example of generated counters: the voting application of the
// AutoShard paper (Scherzinger and Thor, WebDB 2014, figures 1 and 2), in which many users
// vote on few questions at once.
package votes

//go:generate go run adshard/counters/gen

// Question is a question that users vote on and respond to. The application stores Text
// and Author itself; the other fields are sharded.
type Question struct {
	ID     int64 `counter:"key"`
	Text   string
	Author string
	// Votes is static: ten shards.
	Votes int64 `counter:"neutral=0 shards=10 fold=foldVotes update=voteUp,voteDown"`
	// Views is dynamic: each view adds a part, until Run folds them.
	Views int64 `counter:"fold=foldVotes update=view"`
	// Responses is an entity group with four parts.
	Responses []Response `counter:"group shards=4"`
}

// Response is an entry of the group Responses.
type Response struct{ Author, Text string }

func voteUp(votes int64) int64 { return votes + 1 }

func voteDown(votes int64) int64 { return votes - 1 }

func view(views int64) int64 { return views + 1 }

func foldVotes(x, y int64) int64 { return x + y }
