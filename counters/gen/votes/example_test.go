package votes_test

import (
	"context"
	"fmt"
	"sync"

	"adshard/counters"
	"adshard/counters/gen/votes"
	"adshard/counters/store/memory"
)

// Many users vote on one question at once. Each has read the question separately.
func Example() {
	ctx := context.Background()
	questions, err := votes.NewQuestionCounters(memory.New(), counters.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var users sync.WaitGroup
	for user := range 100 {
		users.Go(func() {
			q := &votes.Question{ID: 42, Text: "How do you plan to improve public education?"}
			vote := questions.VoteUp
			if user%10 == 0 {
				vote = questions.VoteDown
			}
			if err := vote(ctx, q); err != nil {
				fmt.Println(err)
			}
		})
	}
	users.Wait()
	q := &votes.Question{ID: 42}
	if err := questions.AppendResponses(ctx, q, votes.Response{Author: "Stan S", Text: "Crucial for our future"}); err != nil {
		fmt.Println(err)
	}
	if err := questions.Load(ctx, q); err != nil {
		fmt.Println(err)
	}
	fmt.Println(q.Votes, "votes,", len(q.Responses), "response")
	// Output: 80 votes, 1 response
}
