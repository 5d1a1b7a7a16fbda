-- Bids of some auctions.
create materialized view q2 as
select auction, price from bid where auction % 3 = 0
