package token_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/opensentience/pulse-go/token"
)

// SpatialClaim is a token of the protocol SCOPE. Its payload is SCOPE's own
// affair: PULSE knows its name, and asks it whether it is valid.
type SpatialClaim struct {
	Region string  `json:"region"`
	Radius float64 `json:"radius_m"`
}

// TokenName implements [token.Token].
func (SpatialClaim) TokenName() token.Name { return "scope.v1.SpatialClaim" }

// Validate implements [token.Token].
func (c SpatialClaim) Validate() error {
	if c.Region == "" {
		return errors.New("a claim without region")
	}
	return nil
}

// A token of a vendor is any type of the host with a name of the form
// <vendor>.v<N>.<TokenName> (OS-010 §6.7).
func ExampleEncode_vendor() {
	env := token.Envelope{
		Loop: "scope.survey", Phase: "claim", TraceID: "abc123", ID: "evt_1",
		Time: time.Date(2026, 4, 10, 12, 0, 0, 0, time.UTC),
	}
	e, err := token.Encode(SpatialClaim{Region: "dock-4", Radius: 12.5}, env)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.Type())
	fmt.Println(string(e.Data()))

	_, err = token.Encode(SpatialClaim{}, env)
	fmt.Println(err)
	// Output:
	// scope.spatial_claim.v1
	// {"radius_m":12.5,"region":"dock-4"}
	// a claim without region
}
