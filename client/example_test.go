package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"adshard/client"
)

// A search, of whichever master answers.
func ExampleClient_Search() {
	master := httptest.NewServer(http.HandlerFunc(ok)) // in place of yours
	defer master.Close()
	c, err := client.New(client.Config{Masters: []string{"http://127.0.0.1:1", master.URL}})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	answer, err := c.Search(context.Background(), client.SearchRequest{Query: "usb cable", Slots: 4})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(answer.Ads), "ads; complete:", answer.Coverage.Complete)
	// Output: 0 ads; complete: true
}

// What a server refuses has a code to decide by.
func ExampleError() {
	master := httptest.NewServer(refuses(http.StatusBadRequest, "invalid"))
	defer master.Close()
	c, err := client.New(client.Config{Masters: []string{master.URL}})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	_, err = c.Search(context.Background(), client.SearchRequest{Query: "usb cable", Slots: 99})
	var refused *client.Error
	if errors.As(err, &refused) {
		fmt.Println(refused.Code, refused.Field, refused.Temporary())
	}
	// Output: invalid f false
}
