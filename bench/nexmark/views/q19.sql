-- The ten highest bids of each auction. The original also shows each bid's place, which no view keeps.
create materialized view q19 as
select auction, bidder, price, channel, url, date_time, extra
from (select id, auction, bidder, price, channel, url, date_time, extra,
             row_number() over (partition by auction order by price desc, id) as place
      from bid) t
where place <= 10
