-- Bids joined with a table that hardly changes.
create materialized view q13 as
select b.auction, b.bidder, b.price, b.date_time, s.value
from bid b join side_input s on b.auction % 20 = s.key
